// The documentation's only script: the search, the list of pages, and where one is on a page.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const input = document.querySelector(".search input");
  const found = document.getElementById("found");
  const side = document.querySelector(".side");
  const wide = window.matchMedia("(min-width: 60rem)");
  const fold = () => { side.open = wide.matches; };
  fold();
  wide.addEventListener("change", fold);
  const here = side.querySelector("[aria-current]");
  if (here && wide.matches) side.scrollTop = here.offsetTop - side.clientHeight / 3;

  // The words are loaded when somebody searches: a script, so that it works from a folder too.
  let words = null;
  function load() {
    words ??= new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = `${root}/search.js`;
      script.onload = () => done(window.SEARCH);
      script.onerror = fail;
      document.head.append(script);
    });
    return words;
  }

  const letters = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

  function score([, title, part, text], terms) {
    const [a, b, c] = [title, part, text].map(letters);
    let sum = 0;
    for (const term of terms) {
      const at = (where, whole, within) =>
        where === term || where === `dp.${term}` ? whole : where.includes(term) ? within : 0;
      const points = at(b, 60, 20) + at(a, 30, 8) + (c.includes(term) ? 2 + Math.min(3, c.split(term).length - 2) : 0);
      if (!points) return 0;
      sum += points;
    }
    return sum;
  }

  // Text nodes and <mark> elements: nothing that is found is read as HTML.
  function marked(text, terms) {
    const piece = document.createDocumentFragment();
    const low = letters(text);
    let at = 0;
    while (at < text.length) {
      const next = terms.map((term) => [low.indexOf(term, at), term]).filter(([k]) => k >= 0).sort((x, y) => x[0] - y[0])[0];
      if (!next || low.length !== text.length) break;
      piece.append(text.slice(at, next[0]));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next[0], next[0] + next[1].length);
      piece.append(mark);
      at = next[0] + next[1].length;
    }
    piece.append(text.slice(at));
    return piece;
  }

  function show(results, terms) {
    found.replaceChildren();
    found.hidden = false;
    if (!results.length) {
      const none = document.createElement("p");
      none.textContent = "Nothing was found. Try fewer words.";
      found.append(none);
      return;
    }
    const list = document.createElement("ol");
    for (const [address, title, part, text] of results) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${root}/${address}`;
      const name = document.createElement("span");
      name.append(marked(part && part !== title ? `${title} › ${part}` : title, terms));
      const around = document.createElement("small");
      const at = Math.max(0, ...terms.map((term) => letters(text).indexOf(term)).slice(0, 1)) - 40;
      around.append(marked(text.slice(Math.max(0, at), Math.max(0, at) + 160), terms));
      link.append(name, around);
      item.append(link);
      list.append(item);
    }
    found.append(list);
  }

  let latest = 0;
  async function search() {
    const terms = letters(input.value).split(/\s+/).filter(Boolean);
    const asked = ++latest;
    if (!terms.length) { found.hidden = true; return; }
    let all;
    try { all = await load(); } catch { all = []; }
    if (asked !== latest) return;
    const results = all.map((each) => [score(each, terms), each]).filter(([points]) => points > 0);
    results.sort((x, y) => y[0] - x[0]);
    show(results.slice(0, 12).map(([, each]) => each), terms);
  }

  input.addEventListener("input", search);
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    (found.querySelector("a.chosen") || found.querySelector("a"))?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      found.hidden = true;
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !found.hidden) {
      const links = [...found.querySelectorAll("a")];
      const now = links.findIndex((link) => link.classList.contains("chosen"));
      const next = Math.min(Math.max(now + (event.key === "ArrowDown" ? 1 : -1), 0), links.length - 1);
      links.forEach((link, place) => link.classList.toggle("chosen", place === next));
      links[next]?.scrollIntoView({ block: "nearest" });
      event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => {
    if (!found.contains(event.target) && event.target !== input) found.hidden = true;
  });

  // Mark the part of the page that is being read.
  const links = new Map([...document.querySelectorAll(".toc a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.classList.remove("here"));
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  for (const id of links.keys()) {
    const part = document.getElementById(decodeURIComponent(id));
    if (part) watch.observe(part);
  }
})();
