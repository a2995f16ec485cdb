"""A visitor of the pages without a browser: cookies, forms, and the word that protects them."""

import re

import httpx

CSRF = re.compile(r'name="csrf" (?:value|content)="([^"]+)"')
COUNT = "SELECT city, COUNT(*) AS n FROM town GROUP BY city"


class Visitor(httpx.Client):
    """Follows no redirect by itself, so that tests see each."""

    def __init__(self, served):
        super().__init__(base_url=served.url, timeout=60)
        self.served = served

    def csrf(self, path):
        return CSRF.search(self.get(path).text)[1]

    def send_form(self, path, *, seen_at, **fields):
        """Fill in a form that was shown on a page, and send it."""
        return self.post(path, data={"csrf": self.csrf(seen_at), **fields})

    def sign_in(self, token):
        return self.send_form("/login", seen_at="/login", token=token)

    def signed_in(self, name):
        reply = self.sign_in(self.served.tokens[name])
        assert reply.status_code == 303
        return self

    def ask(self, sql=COUNT, path="ask", **terms):
        headers = {"x-csrf": self.csrf("/datasets/town/ask")}
        return self.post(
            f"/datasets/town/{path}", json={"sql": sql, **(terms or {"epsilon": 0.5})}, headers=headers
        )
