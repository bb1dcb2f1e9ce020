"""The heavy parts that belong to no library: device, networks, decoding processes.

Each is made when it is first needed, so that a command which needs none starts at once, and an
evaluation shares them with the library beside it. Thread-safe.
"""

import threading
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engine.config import DecodeSettings, FeatureSettings, NetworkChoice
from engine.jobs import Ticket
from engine.media.pool import DecodePool
from engine.network.kept import manifest_at
from engine.network.manifest import NetworkManifest, network_key
from engine.network.registry import DEFAULT, load_described, manifest, manifest_of

if TYPE_CHECKING:  # loading these loads torch
    from engine.network.device import DeviceChoice
    from engine.network.network import Network


class Use(StrEnum):
    """What a picture is decoded for. Thumbnails have processes of their own: hundreds of them are
    asked for at once, and a search would wait behind them."""

    WORK = "work"
    THUMBNAILS = "thumbnails"


class Runtime:
    """Owns what it makes; `close` ends the processes."""

    def __init__(self, decode: DecodeSettings | None = None) -> None:
        self.decode = decode or DecodeSettings()
        self._network_lock = threading.Lock()
        self._pool_lock = threading.Lock()
        self._device: DeviceChoice | None = None
        self._manifests: dict[NetworkChoice, NetworkManifest] = {}
        self._networks: dict[str, Network] = {}
        self._pools: dict[Use, DecodePool] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def manifest(self, choice: NetworkChoice) -> NetworkManifest:
        """What the chosen network is; found out once (see `registry.manifest_of`).

        Raises:
            NetworkError: there is no such network or layer, or its weights cannot be read.
        """
        if choice == NetworkChoice(DEFAULT):
            return manifest(DEFAULT)
        if choice.folder is not None:
            return manifest_at(choice.folder)
        with self._network_lock:
            if choice not in self._manifests:
                from engine.network.loading import preload

                preload()
                self._manifests[choice] = manifest_of(choice)
            return self._manifests[choice]

    def network(self, features: FeatureSettings, known: NetworkManifest | None = None) -> "Network":
        """The network of this manifest (None: the default's) for these features, loaded once.

        Raises:
            NetworkError: its weights are missing or fail their checksum.
        """
        known = known or manifest(DEFAULT)
        key = network_key(known, features)
        with self._network_lock:
            if key not in self._networks:
                from engine.network.loading import preload

                preload()
                self._networks[key] = load_described(
                    known, device=self._choose(), features=features
                )
            return self._networks[key]

    def preload(self, ticket: Ticket | None = None) -> None:
        """Get torch into memory without holding up the window's thread."""
        from engine.network.loading import preload

        preload(ticket or Ticket())

    @property
    def device(self) -> "DeviceChoice":
        """What networks run on, and why. Imports torch."""
        with self._network_lock:
            return self._choose()

    def _choose(self) -> "DeviceChoice":
        if self._device is None:
            from engine.network.device import choose

            self._device = choose()
        return self._device

    def pool(self, use: Use) -> DecodePool:
        """The decoders of this use."""
        with self._pool_lock:
            if use not in self._pools:
                self._pools[use] = DecodePool(self.decode)
            return self._pools[use]

    def close(self) -> None:
        """End the decoding processes. Idempotent."""
        with self._pool_lock:
            pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()
