import {TableNG} from '@grafana/ui/unstable';
import {restored} from '../fields.js';

/** The frame with most fields, where the transformations left several. */
export function chosenFrame(data) {
  return data.reduce((best, frame) => (!best || frame.fields.length > best.fields.length ? frame : best), undefined);
}

/** A table, nested ones too. */
export function Table({panel, data, width, height, replaceVariables, revision}) {
  const options = panel.options;
  return (
    <TableNG
      data={chosenFrame(data)}
      width={width}
      height={height}
      noHeader={!options.showHeader}
      showTypeIcons={false}
      resizable
      sortBy={options.sortBy}
      cellHeight={options.cellHeight}
      enablePagination={options.footer?.enablePagination ?? options.enablePagination}
      frozenColumns={options.frozenColumns?.left}
      structureRev={revision}
      fieldConfig={restored(panel.fieldConfig)}
      getActions={() => []}
      replaceVariables={replaceVariables}
    />
  );
}
