"use strict";
(() => {
  const root = document.documentElement;
  const specs = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choices = ["system", "light", "dark"];
  const names = { system: "system", light: "light", dark: "dark" };

  // A page from a file may be denied storage; the choice then lasts as long as the page is open.
  const remembered = () => { try { return localStorage.getItem("manetlab-theme"); } catch { return null; } };
  const remember = (choice) => { try { localStorage.setItem("manetlab-theme", choice); } catch { /* see above */ } };

  let choice = choices.includes(remembered()) ? remembered() : "system";
  const isDark = () => (choice === "system" ? dark.matches : choice === "dark");
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  function themed(layout) {
    const axis = { color: colour("text"), gridcolor: colour("line"), linecolor: colour("muted"), zerolinecolor: colour("text") };
    return {
      ...layout,
      colorway: isDark() ? specs.colours.dark : specs.colours.light,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("muted"), activecolor: colour("text") },
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("text") },
      hoverlabel: { bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("text") } },
      xaxis: { ...layout.xaxis, ...axis },
      yaxis: { ...layout.yaxis, ...axis },
    };
  }

  // Buttons would cover the legend where nothing hovers and room is short; there, fingers zoom.
  const config = {
    responsive: true,
    displaylogo: false,
    displayModeBar: matchMedia("(hover: hover) and (min-width: 40rem)").matches ? "hover" : false,
    modeBarButtons: [["toImage", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
  };

  // What is folded has no width yet: it is drawn when it is unfolded.
  function draw(within = document) {
    if (!window.Plotly) return;
    for (const place of within.querySelectorAll(".plot")) {
      if (place.closest("details:not([open])")) continue;
      const spec = structuredClone(specs.figures[place.dataset.figure]);
      // Plotly gives the intervals of bars a grey of its own, which a dark ground swallows.
      for (const { type, error_y } of spec.data) if (type === "bar" && error_y) error_y.color = colour("text");
      place.parentElement.classList.add("drawn");
      // Where room is short a legend has a line a name, and would leave the plot none.
      const lines = place.clientWidth < 480 && spec.layout.showlegend ? Math.max(0, spec.data.length - 2) : 0;
      const height = place.closest(".carries") ? (lines ? 16 : 0) : spec.height_rem;
      place.style.height = height ? `${height + 1.4 * lines}rem` : "";
      Plotly.react(place, spec.data, themed(spec.layout), config);
    }
  }

  function apply() {
    if (choice === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = choice;
    button.textContent = `Theme: ${names[choice]}`;
    draw();
  }

  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    choice = choices[(choices.indexOf(choice) + 1) % choices.length];
    remember(choice);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();

  addEventListener("toggle", (event) => { if (event.target.open) draw(event.target); }, true);

  // A link leads into what is folded.
  function unfold() {
    const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    for (const fold of place.querySelectorAll(":scope > details.section")) fold.open = true;
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    place.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  // The same link once more changes no address.
  addEventListener("click", (event) => {
    if (event.target.closest?.("a")?.getAttribute("href") === location.hash) unfold();
  });

  // What is folded is printed too: paper cannot be clicked.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not(#raw details)")) details.open = true;
  });

  // Plotly comes compressed, a third of its size. Where it cannot be unpacked, the static figures stay.
  async function unpack() {
    const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    draw();
    unfold();
    root.dataset.ready = "";
  }
  if (Object.keys(specs.figures).length && "DecompressionStream" in window) unpack();
  else root.dataset.ready = "";
})();
