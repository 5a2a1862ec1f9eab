"""Options that name the columns of a table of clicks."""

from typing import Annotated

import typer

User = Annotated[
    str | None, typer.Option(help="Column of the users; by default found by its name.")
]
Item = Annotated[
    str | None, typer.Option(help="Column of the items; by default found by its name.")
]
Time = Annotated[
    str | None, typer.Option(help="Column of the times; by default found by its name.")
]
Rating = Annotated[str | None, typer.Option(help="Column of the ratings.")]
AtLeast = Annotated[float | None, typer.Option(help="Count only ratings of at least this.")]
