"""The client: a remote curator over HTTP, `dp.connect(url, token=...)`."""

from discreet.asking.client.remote import Remote, RemoteWatch, connect

__all__ = ["Remote", "RemoteWatch", "connect"]
