// Opening a data set: send a file; while promises are typed, say what they mean. No row is read.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const WAIT_MS = 400; // after the last key
  const OFFLINE = "The server cannot be reached. Try again when the connection is back.";

  function sending() {
    const [part, said] = [byId("send-file"), byId("sent")];
    part.hidden = false;
    byId("file").addEventListener("change", async (event) => {
      const [file] = event.target.files;
      if (!file) return;
      said.className = "hint";
      said.textContent = `Sending ${file.name} …`;
      try {
        const response = await fetch(`/owner/files/${encodeURIComponent(file.name)}`, {
          method: "PUT", headers: { "x-csrf": document.querySelector("meta[name=csrf]").content }, body: file,
        }).catch(() => { throw new Error(OFFLINE); });
        if (!response.ok) throw new Error((await response.json()).error.message);
        window.location.assign(`/owner/new?${new URLSearchParams({ file: file.name })}`);
      } catch (error) {
        said.className = "wrong-text";
        said.textContent = error.message;
        event.target.value = "";
      }
    });
  }

  function promising(form) {
    let timer = 0;
    let latest = 0;

    // Bounds belong to numbers and dates, labels to what one groups by; the person's own column has neither.
    function fit() {
      form.querySelectorAll(".promise").forEach((row) => {
        const kind = row.querySelector("select").value;
        const isUnit = form.unit.value === row.getAttribute("aria-label");
        const bounds = !isUnit && ["integer", "number", "date", "timestamp"].includes(kind);
        const keys = !isUnit && kind === "text";
        row.querySelectorAll(".for-bounds").forEach((field) => { field.hidden = !bounds; });
        row.querySelector(".for-keys").hidden = !keys;
        row.querySelector(".is-unit").hidden = !isUnit;
        row.querySelectorAll(".for-bounds input").forEach((input, n) => {
          input.disabled = !bounds;
          input.placeholder = kind === "date" ? ["2020-01-01", "2026-12-31"][n] : ["least", "greatest"][n];
        });
        row.querySelector(".for-keys input").disabled = !keys;
      });
    }

    function draw({ problem, odds, price, question, errors, tried, text }) {
      byId("setup-problem").textContent = problem;
      byId("open-it").disabled = Boolean(problem);
      if (problem) return;
      byId("setup-odds").textContent = odds;
      byId("first").hidden = false;
      byId("first-price").textContent = price;
      byId("first-question").textContent = question;
      byId("setup-text").textContent = text;
      byId("errors").replaceChildren(...errors.map((each) => {
        const [pair, term, detail, number] = ["div", "dt", "dd", "strong"].map((tag) => document.createElement(tag));
        [term.textContent, number.textContent] = [each.name, each.text];
        detail.append(number, ` ${each.of}`);
        pair.append(term, detail);
        return pair;
      }));
      if (tried === null) return; // the server draws no more for the moment: the picture before stays
      byId("tried").replaceChildren(...tried.map(({ wide, narrow, says }) => {
        const figure = document.createElement("figure");
        figure.className = "picture sized";
        for (const [size, drawing] of [["wide", wide], ["narrow", narrow]]) {
          const part = document.createElement("div");
          part.className = size;
          part.innerHTML = drawing; // the server's own drawing, its texts escaped there
          figure.append(part);
        }
        const caption = document.createElement("figcaption");
        caption.className = "sub";
        caption.textContent = says;
        figure.append(caption);
        return figure;
      }));
    }

    async function look() {
      const mine = ++latest;
      try {
        const response = await fetch("/owner/new/look", { method: "POST", body: new URLSearchParams(new FormData(form)) })
          .catch(() => { throw new Error(OFFLINE); });
        const found = await response.json();
        if (mine === latest) draw(response.ok ? found : { problem: found.error.message });
      } catch (error) {
        if (mine === latest) draw({ problem: error.message });
      }
    }

    function later() {
      clearTimeout(timer);
      timer = setTimeout(look, WAIT_MS);
    }

    form.addEventListener("input", () => { fit(); later(); });
    document.querySelectorAll(".odds-of").forEach((button) => {
      button.disabled = false;
      button.addEventListener("click", () => {
        form.epsilon.value = button.dataset.epsilon;
        later();
      });
    });
    window.addEventListener("online", look);
    fit();
    look();
  }

  if (byId("send-file")) sending();
  if (byId("setup")) promising(byId("setup"));
})();
