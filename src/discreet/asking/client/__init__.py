"""The client: a remote curator over HTTP, `dp.connect(url, token=...)`."""

from discreet.asking.client.remote import Remote, RemoteWatch, connect
from discreet.asking.client.transport import Transport, write_object

__all__ = ["Remote", "RemoteWatch", "Transport", "connect", "write_object"]
