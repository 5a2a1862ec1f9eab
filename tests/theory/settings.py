"""The paper's setting, in which the bounds are looked at."""

SETTING = dict(
    n_users=40,
    n_clusters=5,
    n_features=20,
    k=4,
    horizon=100_000,
    gap=0.5,
    item_eigenvalue=0.04,
    reg=4.0,
)
GLM = SETTING | dict(slope=0.1, lipschitz=0.25)


def changed(setting, **values):
    return setting | values
