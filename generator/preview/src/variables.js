// What is chosen at the top of a board, and how it goes into a text.

export const ALL = '$__all';
const VARIABLE = /\$(\w+)|\[\[(\w+)(?::(\w+))?\]\]|\$\{(\w+)(?:\.([^:}]+))?(?::([^}]+))?\}/g;

/** A variable as it comes in the JSON of a board, with what a URL or its first value chose. */
export function chosenOf(variable, fromUrl) {
  if (fromUrl?.length) {
    return variable.multi ? fromUrl : fromUrl.slice(0, 1);
  }
  const current = variable.current?.value;
  const list = current === undefined || current === '' ? [] : [].concat(current);
  return variable.type === 'datasource' ? ['prometheus'] : list;
}

/** The chosen values after its query gave these: what is gone gives way to All or to the first one. */
export function settled(variable, chosen, values) {
  if (variable.includeAll && (chosen.includes(ALL) || !chosen.length)) {
    return [ALL];
  }
  // What a link named stays, though nothing has it at the moment: an empty board says more than another job's.
  if (chosen.length) {
    return chosen;
  }
  return values.slice(0, 1);
}

function regularEscape(value) {
  return value.replace(/\\/g, '\\\\').replace(/'/g, "\\\\'");
}

function specialEscape(value) {
  return value.replace(/\\/g, '\\\\\\\\').replace(/[$^*{}[\]'+?.()|]/g, '\\\\$&');
}

function strictEncoded(text) {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function inQuery(variable, values) {
  if (!variable.multi && !variable.includeAll) {
    return regularEscape(values[0] ?? '');
  }
  const escaped = values.map(specialEscape);
  return escaped.length === 1 ? escaped[0] : `(${escaped.join('|')})`;
}

/** The chosen values in one of Grafana's formats; '' is that of a query. */
export function formatted(variable, chosen, options, format) {
  const all = chosen.includes(ALL);
  if (format === 'queryparam') {
    return chosen.map((value) => `var-${variable.name}=${strictEncoded(value)}`).join('&');
  }
  if (format === 'text') {
    return all ? 'All' : chosen.join(' + ');
  }
  if (all && variable.allValue) {
    return variable.allValue;
  }
  const values = all ? options : chosen;
  switch (format ?? '') {
    case '':
      return inQuery(variable, values);
    case 'regex': {
      const escaped = values.map((value) => value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
      return escaped.length === 1 ? escaped[0] : `(${escaped.join('|')})`;
    }
    case 'pipe':
      return values.join('|');
    case 'raw':
    case 'csv':
      return values.join(',');
    case 'percentencode':
    case 'uriencode':
      return strictEncoded(values.length === 1 ? values[0] : `{${values.join(',')}}`);
    default:
      throw new Error(`the format ${format} of the variable ${variable.name} is unknown here`);
  }
}

/** Puts in what stands for each variable. `lookup(name, path, format)` gives a text, or undefined to leave it. */
export function replaced(text, lookup) {
  return text.replace(VARIABLE, (whole, bare, old, oldFormat, name, path, format) => {
    const found = bare ?? old ?? name;
    // $1 is a group of label_replace, no variable.
    return /^\d+$/.test(found) ? whole : (lookup(found, path, oldFormat ?? format) ?? whole);
  });
}

/** The lookup of a board's variables: `state` has their definitions, what is chosen, and what may be. */
export function boardLookup(state, defaultFormat) {
  return (name, _path, format) => {
    const variable = state.variables.find((one) => one.name === name);
    if (!variable) {
      return undefined;
    }
    return formatted(variable, state.chosen[name] ?? [], state.options[name] ?? [], format ?? defaultFormat);
  };
}

/** The names of the variables that a text asks for. */
export function namesIn(text) {
  const found = new Set();
  replaced(text, (name) => {
    found.add(name);
    return undefined;
  });
  return found;
}
