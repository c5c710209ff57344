// Where panels lie, in pixels: Grafana's grid of 24 columns, rows of 30 pixels and gaps of 8.

const COLUMNS = 24;
const ROW = 30;
const GAP = 8;

/** A panel's place inside its section, in pixels. */
export function place(gridPos, top, width) {
  const column = (width - (COLUMNS - 1) * GAP) / COLUMNS;
  return {
    left: gridPos.x * (column + GAP),
    top: (gridPos.y - top) * (ROW + GAP),
    width: gridPos.w * column + (gridPos.w - 1) * GAP,
    height: gridPos.h * ROW + (gridPos.h - 1) * GAP,
  };
}

/** Panels under their rows, from the top: [{row, panels, top, height}]; the first section may have no row. */
export function sections(panels) {
  const found = [];
  for (const panel of panels) {
    if (panel.type === 'row') {
      found.push({row: panel, panels: [...(panel.panels ?? [])]});
    } else {
      if (!found.length) {
        found.push({row: null, panels: []});
      }
      found.at(-1).panels.push(panel);
    }
  }
  for (const section of found) {
    section.top = Math.min(...section.panels.map((panel) => panel.gridPos.y));
    const bottom = Math.max(...section.panels.map((panel) => panel.gridPos.y + panel.gridPos.h));
    section.height = section.panels.length ? (bottom - section.top) * (ROW + GAP) : 0;
  }
  return found;
}

/** Panels with those that repeat spelled out, one for each chosen value of a variable. */
export function repeated(panels, valuesOf) {
  return panels.flatMap((panel) => {
    if (panel.type === 'row') {
      return [{...panel, panels: repeated(panel.panels ?? [], valuesOf)}];
    }
    if (!panel.repeat) {
      return [panel];
    }
    const values = valuesOf(panel.repeat);
    const down = panel.repeatDirection === 'v';
    const most = panel.maxPerRow ?? 4;
    const columns = down ? 1 : Math.min(values.length, most);
    const w = down ? panel.gridPos.w : Math.floor(COLUMNS / Math.max(1, columns));
    return values.map((value, index) => ({
      ...panel,
      scoped: {[panel.repeat]: [value]},
      copy: index,
      gridPos: {
        ...panel.gridPos,
        w,
        x: down ? panel.gridPos.x : (index % columns) * w,
        y: panel.gridPos.y + Math.floor(index / columns) * panel.gridPos.h,
      },
    }));
  });
}
