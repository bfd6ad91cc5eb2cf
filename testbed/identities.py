"""The users of a control plane: its certificate authority, tokens and kubeconfig files.

Tokens are for users that are known from the start (the API server reads them once); all others get
a client certificate, which can be issued at any time.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.certs import Authority, KeyPair

OPERATOR_NAMESPACE = "headroom-system"
OPERATOR_ACCOUNT = "headroom-operator"


@dataclass(frozen=True)
class Identity:
    """A user as the API server sees it. All permissions come from groups or bindings."""

    user: str
    groups: tuple[str, ...] = ()


ADMIN = Identity("testbed-admin", ("system:masters",))
SCHEDULER = Identity("system:kube-scheduler")
OPERATOR = Identity(
    f"system:serviceaccount:{OPERATOR_NAMESPACE}:{OPERATOR_ACCOUNT}",
    ("system:serviceaccounts", f"system:serviceaccounts:{OPERATOR_NAMESPACE}"),
)


class Identities:
    """The files of all users in one directory, and the kubeconfigs made from them."""

    def __init__(self, directory: Path, server: str) -> None:
        self.directory = directory
        self.server = server
        self._authority = Authority("headroom-testbed")
        self.authority_pem = self._authority.pem
        self._tokens = {who: secrets.token_hex(16) for who in (ADMIN, SCHEDULER, OPERATOR)}
        self.authority_file = self._write("ca.crt", self.authority_pem)
        self.tokens_file = self._write("tokens.csv", self._tokens_csv())
        self.account_key_file = self._write("service-accounts.key", KeyPair.generate().pem())
        certificate, key = self._authority.issue_server(
            "kube-apiserver", ("127.0.0.1", "localhost", "kubernetes.default.svc")
        )
        self.server_certificate_file = self._write("apiserver.crt", certificate)
        self.server_key_file = self._write("apiserver.key", key)

    def token(self, who: Identity) -> str:
        return self._tokens[who]

    def token_kubeconfig(self, name: str, token: str) -> Path:
        """Write a kubeconfig that presents a token."""
        return self._kubeconfig(name, {"token": token})

    def certificate_kubeconfig(self, user: str, groups: Sequence[str]) -> Path:
        """Write a kubeconfig for any user, who is named by a fresh client certificate."""
        certificate, key = self._authority.issue_client(user, groups)
        return self._kubeconfig(
            user,
            {
                "client-certificate-data": _base64(certificate),
                "client-key-data": _base64(key),
            },
        )

    def _kubeconfig(self, name: str, credentials: dict[str, str]) -> Path:
        cluster = {
            "server": self.server,
            "certificate-authority-data": _base64(self.authority_pem),
        }
        context = {"cluster": "testbed", "user": name, "namespace": "default"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "testbed", "cluster": cluster}],
            "users": [{"name": name, "user": credentials}],
            "contexts": [{"name": "testbed", "context": context}],
            "current-context": "testbed",
        }
        file_name = re.sub(r"[^\w.-]", "_", name)
        return self._write(f"{file_name}.kubeconfig", json.dumps(document, indent=2))

    def _tokens_csv(self) -> str:
        return "".join(
            f'{token},{who.user},{who.user},"{",".join(who.groups)}"\n'
            for who, token in self._tokens.items()
        )

    def _write(self, name: str, content: str) -> Path:
        """Write a file that only its owner can read, atomically: others may read the old one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path, part = self.directory / name, self.directory / f"{name}.part"
        part.touch(mode=0o600)
        part.write_text(content)
        return part.replace(path)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
