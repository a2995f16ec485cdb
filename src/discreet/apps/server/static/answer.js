// Pages work without a script; with one they also copy, print and draw a PNG.
"use strict";
(() => {
  document.querySelectorAll("button.copy").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.from).textContent);
      button.firstChild.textContent = "Copied";
    });
  });
  const print = document.getElementById("print");
  if (print) {
    print.hidden = false;
    print.addEventListener("click", () => window.print());
  }

  const png = document.getElementById("png");
  if (!png) return;
  png.hidden = false;
  png.addEventListener("click", async () => {
    const drawn = await (await fetch(document.getElementById("svg").href)).text();
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([drawn], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await new Promise((done) => canvas.toBlob(done, "image/png")));
    link.download = png.dataset.name;
    link.click();
  });
})();
