// The check of a recording's head and movement: recordings are sent around, and may say anything.

import type { Moving, RecordingHead, Rows } from "./recording";

/** No place is farther from the origin, in m. */
const FARTHEST_M = 1e9;
const MOST_NODES = 100_000;
const MOST_FLOWS = 1_000_000;
const LONGEST_S = 1e6;
const LONGEST_NAME = 1000;

type Table = Record<string, unknown>;

const isTable = (value: unknown): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);
const isWhole = (value: unknown, below: number): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < below;
const isLength = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= FARTHEST_M;
const isTime = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= LONGEST_S;

function isBounds(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (!Array.isArray(value) || value.length !== 4 || !value.every(isLength)) return false;
  const [left, bottom, right, top] = value as number[];
  return left <= right && bottom <= top;
}

function isSchema(value: unknown): boolean {
  if (!isTable(value) || typeof value["name"] !== "string" || !isWhole(value["id"], 2 ** 16)) return false;
  const columns = value["columns"];
  return Array.isArray(columns) && columns.every((each) => isTable(each) && typeof each["name"] === "string" && typeof each["type"] === "string");
}

/** The head, if a page can draw what it says; otherwise an error that names what it cannot be. */
export function checkedHead(head: unknown): RecordingHead {
  const need = (isRight: boolean, field: string, wanted: string): void => {
    if (!isRight) throw new Error(`the recording’s head cannot be used: ${field} must be ${wanted}`);
  };
  if (!isTable(head)) throw new Error("the recording’s head cannot be used: it must be a table");
  const each = (field: string, isRight: (value: unknown) => boolean): boolean => {
    const list = head[field];
    return Array.isArray(list) && list.every(isRight);
  };
  const nodes = head["nodes"];
  need(isWhole(nodes, MOST_NODES + 1), "nodes", `a whole number up to ${MOST_NODES}`);
  const isNode = (value: unknown): boolean => isWhole(value, nodes as number);
  need(isTime(head["duration_s"]) && head["duration_s"] > 0, "duration_s", `a time above 0 and up to ${LONGEST_S} s`);
  need(isBounds(head["bounds_m"]), "bounds_m", `least and greatest x and y within ${FARTHEST_M} m`);
  need(isLength(head["sense_range_m"] ?? 0), "sense_range_m", `a length of at most ${FARTHEST_M} m`);
  need(each("receive_range_m", (range) => isTable(range) && isLength(range["range_m"])), "receive_range_m", `lengths of at most ${FARTHEST_M} m`);
  const isCorner = (corner: unknown): boolean => Array.isArray(corner) && corner.length === 2 && corner.every(isLength);
  const isWall = (wall: unknown): boolean => isTable(wall) && Array.isArray(wall["points"]) && wall["points"].every(isCorner);
  need(head["walls"] === undefined || each("walls", isWall), "walls", `a list of walls with corners within ${FARTHEST_M} m`);
  const isFlow = (flow: unknown): boolean =>
    isTable(flow) && isWhole(flow["id"], MOST_FLOWS) && typeof flow["kind"] === "string" && isNode(flow["src"]) && isNode(flow["dst"]) && isTime(flow["start_s"]);
  need(each("flows", isFlow), "flows", "a list of flows between nodes");
  need(each("destinations", isNode), "destinations", "a list of nodes");
  const { labels = undefined } = head;
  const areLabels = Array.isArray(labels) && labels.length === nodes && labels.every((name) => typeof name === "string" && name.length <= LONGEST_NAME);
  need(labels === undefined || areLabels, "labels", "a name for each node");
  need(each("tables", isSchema), "tables", "a list of tables with their columns");
  return head as unknown as RecordingHead;
}

/** The movement, if all of it is at places and times that can be. */
export function checkedMovement(moving: Moving, nodes: number): Moving {
  // A leg may end long after the run: files of setdest have speeds near 0.
  const isTimeNs = (value: number): boolean => value >= 0 && value <= 2 ** 64;
  const isNode = (value: number): boolean => isWhole(value, nodes);
  const all = ({ columns }: Rows, name: string, isRight: (value: number) => boolean): void => {
    if (!(columns.get(name) ?? []).every(isRight)) throw new Error(`the recording’s movement cannot be used: ${name} is not possible`);
  };
  const { points, heights, presence } = moving;
  for (const rows of [points, heights, presence]) all(rows, "node", isNode);
  for (const rows of [points, heights]) all(rows, "time", isTimeNs);
  for (const name of ["x", "y"]) all(points, name, isLength);
  all(heights, "z", isLength);
  all(presence, "from", (value) => value >= 0);
  all(presence, "until", (value) => value >= 0);
  return moving;
}
