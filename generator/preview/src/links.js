// Variables of links and titles: those of the board, of the cell or line that was clicked, and of the time range.
import {formattedValueToString, getFieldDisplayName} from '@grafana/data';
import {boardLookup, formatted, replaced} from './variables.js';

const QUOTED = /^\["?(.+?)"?\]$/;

function fieldNamed(context, path) {
  const wanted = path.replace(/^fields/, '').replace(/^\./, '');
  const name = QUOTED.exec(wanted)?.[1] ?? wanted;
  const {frame, data} = context;
  const index = Number(name);
  return frame.fields.find((field) => getFieldDisplayName(field, frame, data) === name || field.name === name) ??
    frame.fields[Number.isInteger(index) ? index : -1];
}

function shown(field, value) {
  return field.display ? formattedValueToString(field.display(value)) : String(value);
}

function ofContext(context, name, path = '') {
  const {field, frame, rowIndex, calculatedValue} = context;
  switch (name) {
    case '__data': {
      const [wanted, part] = path.endsWith('.text') || path.endsWith('.numeric')
        ? [path.slice(0, path.lastIndexOf('.')), path.slice(path.lastIndexOf('.') + 1)]
        : [path, 'text'];
      const found = fieldNamed(context, wanted);
      if (!found || rowIndex === undefined) {
        return undefined;
      }
      const value = found.values[rowIndex];
      return part === 'numeric' ? String(value) : shown(found, value);
    }
    case '__field':
      if (path.startsWith('labels')) {
        const label = path.replace(/^labels\.?/, '');
        return field.labels?.[QUOTED.exec(label)?.[1] ?? label] ?? '';
      }
      return getFieldDisplayName(field, frame, context.data);
    case '__series':
      return getFieldDisplayName(field, frame, context.data);
    case '__value': {
      const value = calculatedValue?.numeric ?? field.values[rowIndex ?? field.values.length - 1];
      return path === 'raw' || path === 'numeric' ? String(value) : shown(field, value);
    }
    default:
      return undefined;
  }
}

function encoded(text, format) {
  return format === 'percentencode' || format === 'uriencode' ? encodeURIComponent(text) : text;
}

/** Grafana's `replaceVariables` for a board: (text, scopedVars, format) => text. */
export function replacer(state, shownRange) {
  const ofBoard = boardLookup(state, 'text');
  return (text, scoped, format) => {
    if (!text) {
      return text ?? '';
    }
    return replaced(text, (name, path, own) => {
      if (name === '__url_time_range') {
        return `from=${encodeURIComponent(shownRange.from)}&to=${encodeURIComponent(shownRange.to)}`;
      }
      if (name === '__all_variables') {
        return state.variables
          .map((variable) => formatted(variable, state.chosen[variable.name] ?? [], [], 'queryparam'))
          .join('&');
      }
      const context = scoped?.__dataContext?.value;
      const found = context && ofContext(context, name, path);
      if (found !== undefined) {
        return encoded(found, own ?? format);
      }
      return ofBoard(name, path, own ?? format);
    });
  };
}
