"""The files of ``deploy/``: what they name exists, there and in the service. No container runs."""

import json
import re

import typer
import yaml

from clubcascade.cli.app import app
from clubcascade.service.http import PREFIX, Limits
from clubcascade.service.model import COUNTERS
from tests.project.test_habits import ROOT
from tests.service.web import serving, stock

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
DASHBOARD = json.loads((DEPLOY / "grafana" / "clubcascade.json").read_text())
MADE = {"./prometheus.key"}  # by who starts it


def mounts():
    """(service, source, target) of everything mounted."""
    for name, service in SERVICES.items():
        for mount in service.get("volumes", []):
            if isinstance(mount, str):
                source, target = mount.split(":")[:2]
            else:
                source, target = mount["source"], mount["target"]
            yield name, source, target


def test_every_mount_is_a_volume_or_a_file():
    for _, source, _ in mounts():
        named = source in COMPOSE["volumes"] or source in MADE
        assert named or (DEPLOY / source).is_file(), source
    assert {source for _, source, _ in mounts()} >= set(COMPOSE["volumes"])


def test_images_have_versions_and_nothing_listens_on_all_addresses():
    for service in SERVICES.values():
        assert "build" in service or re.fullmatch(r"[\w/]+:v?\d+[\w.-]+", service["image"])
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert (DEPLOY / SERVICES["service"]["build"] / "Dockerfile").is_file()


def test_every_variable_of_the_service_exists():
    serve = typer.main.get_command(app).commands["serve"]
    known = {option.envvar for option in serve.params}
    known |= {PREFIX + name.upper() for name in Limits.__dataclass_fields__} | {"PGPASSWORD"}
    assert set(SERVICES["service"]["environment"]) <= known


def test_secrets_must_be_named_and_are_not_in_the_repository():
    text = (DEPLOY / "compose.yaml").read_text()
    assert not re.findall(r"PASSWORD: (?!\$\{\w+:\?)", text)
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"deploy/.env", "deploy/prometheus.key"} <= set(ignored)


def test_prometheus_asks_the_service_with_the_key_that_is_mounted():
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    assert target.partition(":")[0] in SERVICES
    keys = [where for name, _, where in mounts() if name == "prometheus" and "key" in where]
    assert keys == [job["authorization"]["credentials_file"]]


def test_grafana_finds_its_source_and_the_dashboard():
    (source,) = yaml.safe_load((DEPLOY / "grafana/datasource.yaml").read_text())["datasources"]
    assert source["url"].split("/")[-1].partition(":")[0] in SERVICES
    (folder,) = yaml.safe_load((DEPLOY / "grafana/dashboards.yaml").read_text())["providers"]
    path = folder["options"]["path"]
    assert any(where == f"{path}/clubcascade.json" for _, _, where in mounts())
    uids = re.findall(r'"uid": "(\w+)"', json.dumps(DASHBOARD["panels"]))
    assert set(uids) == {source["uid"]}


def test_panels_do_not_overlap():
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        here = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
        assert not here & taken and at["x"] + at["w"] <= 24
        taken |= here


def test_every_metric_and_label_of_the_dashboard_is_told_by_the_service(tmp_path):
    with serving(tmp_path) as (client, _):
        stock(client)
        decision = client.post("/v1/default/recommend", json={"user": "alice", "k": 1}).json()
        sent = {"decision_id": decision["decision_id"], "click": 0}
        assert client.post("/v1/default/feedback", json=sent).status_code == 200
        told = client.get("/metrics").text
    labels = {}
    for name, inside in re.findall(r"^(\w+)(?:\{(.*)\})? ", told, re.MULTILINE):
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', inside))
        for endpoint in re.findall(r'endpoint="(\w+)"', inside):
            labels.setdefault("endpoints", set()).add(endpoint)
    assert {"recommend", "feedback"} <= labels["endpoints"]
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    assert len(asked) >= 12
    for expression in asked:
        found = re.findall(r"(clubcascade_\w+)(?:\{(.*?)\})?", expression)
        assert found and expression.count("(") == expression.count(")"), expression
        for name, inside in found:
            assert set(re.findall(r"(\w+)=", inside)) <= labels[name], expression
        for grouped in re.findall(r"by \((.*?)\)", expression):
            assert set(grouped.split(", ")) - {"instance"} <= set().union(*labels.values())
        assert set(re.findall(r'counter="(\w+)"', expression)) <= set(COUNTERS)
