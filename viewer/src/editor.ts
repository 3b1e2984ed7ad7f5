// The scenario's text in the page: opened, edited, run and saved.

import { button, element } from "./dom";
import type { Edit } from "./edits";
import { save } from "./enlarge";
import type { LiveData } from "./requests";
import { forget, store, stored } from "./storage";

/** The largest file that is opened, in bytes. */
const MOST_BYTES = 1_000_000;
const ANYTHING = "Everything that a scenario's file may say can be changed here. Python in the page reads it as the command line does; it takes a few seconds to begin.";
const SINGLE_VALUES = "Parameters, flows, positions, chains and grids can be changed here. What the command line works out from several fields, such as random movement, radio ranges and profiles, stays as it was when the page was made; a page made with --python takes those too.";

export class Editor {
  readonly root: HTMLDetailsElement;
  private readonly area: HTMLTextAreaElement;
  private readonly wrong = element("pre", { class: "bad", role: "alert", id: "editor-error" });
  private readonly file = element("input", { type: "file", accept: ".toml,text/plain", hidden: "", "aria-label": "Open a scenario" });

  /**
   * @param key Names the draft that the browser keeps.
   * @param holdsPython The page resolves any scenario.
   * @param run Runs what the text says.
   */
  constructor(
    private readonly data: LiveData,
    private readonly key: string,
    holdsPython: boolean,
    private readonly run: (text: string) => void,
  ) {
    this.area = element("textarea", { id: "editor-text", rows: "14", spellcheck: "false", wrap: "off", autocomplete: "off", "aria-label": "The scenario as TOML", "aria-describedby": "editor-note editor-error" });
    const draft = stored(key);
    this.area.value = draft ?? data.toml;
    this.area.addEventListener("input", () => store(key, this.area.value));
    // Who writes here leaves with Tab like everywhere; Ctrl with Enter runs.
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.apply();
      event.stopPropagation();
    });
    this.file.addEventListener("change", () => void this.open());
    const note = element("p", { class: "note", id: "editor-note" }, holdsPython ? ANYTHING : SINGLE_VALUES);
    const actions = element(
      "div",
      { class: "actions" },
      button("Run this text", () => this.apply(), { class: "primary", id: "editor-run" }),
      button("Open …", () => this.file.click(), { id: "editor-open" }),
      button("Save", () => save("scenario.toml", new Blob([this.area.value], { type: "application/toml" })), { id: "editor-save" }),
      button("Back to the original", () => this.show(undefined), { id: "editor-back" }),
    );
    this.root = element("details", { id: "editor" }, element("summary", {}, "Scenario as text"), this.area, this.wrong, actions, note, this.file);
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    this.root.open = data.isEditorOpen || draft !== undefined;
  }

  /** Shows the text of an edit, or the original one. */
  show(edit: Edit | undefined): void {
    this.area.value = edit?.text ?? this.data.toml;
    this.tell("");
    if (edit === undefined) forget(this.key);
    else store(this.key, edit.text);
  }

  private async open(): Promise<void> {
    const [file] = this.file.files ?? [];
    this.file.value = "";
    if (file === undefined) return;
    if (file.size > MOST_BYTES) return this.tell(`${file.name} is too large\n  found:  ${file.size} bytes\n  wanted: up to ${MOST_BYTES} bytes`);
    this.area.value = await file.text();
    store(this.key, this.area.value);
    this.tell("");
    this.area.focus();
  }

  private apply(): void {
    this.tell("");
    this.run(this.area.value);
  }

  /** Says what is wrong. */
  tell(text: string): void {
    this.wrong.textContent = text === "" ? "" : `error: ${text}`;
    this.area.setAttribute("aria-invalid", String(text !== ""));
    if (text !== "") this.wrong.scrollIntoView({ block: "nearest" });
  }
}
