// A textarea that colours SQL, completes names of the policy, and underlines the place of an error.
"use strict";
const Editor = (() => {
  const MOST = 8;

  function make(area, list, completions) {
    const backdrop = area.parentElement.querySelector(".backdrop");
    let active = -1;
    let shown = [];

    // --- colours, and the mark under an error: the same text behind the area ---------------------------------
    const kinds = new Map(completions.map(({ text, kind }) => [text.toUpperCase(), kind]));
    const KEYWORDS = new Set([...kinds].filter(([, kind]) => kind === "keyword").flatMap(([text]) => text.split(" ")));
    const PIECE = /(--[^\n]*)|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\d[\d.]*(?:e[+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_]*)|(\s+|[^])/giu;
    let wrong = null;
    area.parentElement.classList.add("painted");

    function classOf([, note, text, quoted, number, name]) {
      if (note) return "t-note";
      if (text) return "t-text";
      if (quoted) return "t-name";
      if (number) return "t-number";
      if (!name) return "";
      const kind = kinds.get(name.toUpperCase());
      if (KEYWORDS.has(name.toUpperCase())) return "t-keyword";
      return kind === "aggregate" ? "t-call" : kind ? "t-name" : "";
    }

    function paint() {
      const parts = [];
      for (const found of area.value.matchAll(PIECE)) {
        const [start, end] = [found.index, found.index + found[0].length];
        const cuts = [start, ...(wrong ?? []).filter((at) => start < at && at < end), end];
        for (let n = 0; n + 1 < cuts.length; n += 1) {
          const is = wrong && cuts[n] >= wrong[0] && cuts[n] < wrong[1];
          const part = document.createElement(is ? "mark" : "span");
          part.className = classOf(found);
          part.textContent = area.value.slice(cuts[n], cuts[n + 1]);
          parts.push(part);
        }
      }
      const last = document.createElement(wrong && wrong[0] >= area.value.length ? "mark" : "span");
      last.textContent = " ";
      backdrop.replaceChildren(...parts, last);
      backdrop.scrollTop = area.scrollTop;
    }

    function mark(place) {
      wrong = place && [place[0], Math.max(place[1], place[0] + 1)];
      paint();
    }
    area.addEventListener("scroll", () => { backdrop.scrollTop = area.scrollTop; });

    // --- completion ----------------------------------------------------------------------------------------
    const begun = () => /['"]?[\p{L}\p{N}_]*$/u.exec(area.value.slice(0, area.selectionStart))[0];

    function close() {
      list.hidden = true;
      list.replaceChildren();
      shown = [];
      active = -1;
      area.removeAttribute("aria-activedescendant");
      area.setAttribute("aria-expanded", "false");
    }

    function choose(index) {
      active = index;
      [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === index));
      if (index >= 0) area.setAttribute("aria-activedescendant", list.children[index].id);
    }

    function insert(index) {
      const { text, kind } = shown[index];
      const start = area.selectionStart - begun().length;
      area.setRangeText(kind === "aggregate" ? `${text}(` : `${text} `, start, area.selectionStart, "end");
      close();
      area.focus();
      area.dispatchEvent(new Event("input", { bubbles: true }));
      close();
    }

    function suggest(everything) {
      const start = begun().toLowerCase();
      if (!start && !everything) return close();
      const fits = completions.filter(({ text }) => text.toLowerCase().replace(/^['"]/, "").startsWith(start.replace(/^['"]/, "")));
      shown = fits.filter(({ text }) => text.toLowerCase() !== start).slice(0, MOST);
      if (!shown.length) return close();
      list.replaceChildren(...shown.map(({ text, kind }, i) => {
        const item = document.createElement("div");
        item.id = `suggestion-${i}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        const name = document.createElement("span");
        const what = document.createElement("small");
        name.textContent = text;
        what.textContent = kind;
        item.append(name, what);
        item.addEventListener("mousedown", (event) => { event.preventDefault(); insert(i); });
        return item;
      }));
      active = -1;
      list.hidden = false;
      area.setAttribute("aria-expanded", "true");
    }

    area.addEventListener("input", (event) => {
      mark(null);
      if (event.inputType && event.inputType.startsWith("insert")) suggest(false);
      else close();
    });
    area.addEventListener("blur", close);
    area.addEventListener("keydown", (event) => {
      if (event.ctrlKey && event.code === "Space") {
        event.preventDefault();
        suggest(true);
      } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
        event.preventDefault();
        const step = event.key === "ArrowDown" ? 1 : -1;
        choose((active + step + shown.length) % shown.length);
      } else if (!list.hidden && ["Enter", "Tab"].includes(event.key) && !event.shiftKey && active >= 0 && !event.ctrlKey) {
        event.preventDefault();
        insert(active);
      } else if (!list.hidden && event.key === "Escape") {
        event.preventDefault();
        close();
      }
    });
    paint();
    return { mark, paint };
  }

  return { make };
})();
