// Figures of a panel, by Grafana's own reducers.
import {getFieldDisplayValues} from '@grafana/data';
import {restored} from '../fields.js';

/** The display values of a panel that shows figures. */
export function figures({panel, data, replaceVariables, theme}, {sparkline = false} = {}) {
  return getFieldDisplayValues({
    data,
    reduceOptions: panel.options?.reduceOptions ?? {calcs: ['lastNotNull'], values: false, fields: ''},
    fieldConfig: restored(panel.fieldConfig),
    replaceVariables,
    theme,
    timeZone: 'browser',
    sparkline,
  });
}

/** The address that a figure leads to, if it has one. */
export function firstLink(value) {
  return value.hasLinks ? value.getLinks?.({})?.[0] : undefined;
}
