"""What an operator can set for the HTTP service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one client may ask for; what is beyond gets a clear error, never a slow service."""

    body: int = 4 * 2**20
    """Bytes of a request."""
    candidates: int = 10_000
    """Items of a request: to rank, to register or to remove."""
    features: int = 1_024
    """Numbers of a vector."""
    batch: int = 10_000
    """Pieces of feedback of a request."""
    k: int = 1_000
    """Length of a list."""
    rate: float = 5_000.0
    """Requests per second and key; bursts of twice that."""
    seconds: float = 10.0
    """Time for a client to send its request."""
    connections: int = 1_000
    """Connections at a time."""
    models: int = 1_000
    """Models of a service."""
