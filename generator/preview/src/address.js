// What a board shows is in its address, with the same names as in Grafana.

const DEFAULTS = {from: 'now-6h', to: 'now', theme: 'dark', open: false, refresh: ''};

/** What an address says: {from, to, theme, open, refresh, chosen: {name: [values]}}. */
export function readAddress(search, board = {}) {
  const query = new URLSearchParams(search);
  const chosen = {};
  for (const [key, value] of query) {
    if (key.startsWith('var-')) {
      (chosen[key.slice(4)] ??= []).push(value);
    }
  }
  return {
    from: query.get('from') ?? board.time?.from ?? DEFAULTS.from,
    to: query.get('to') ?? board.time?.to ?? DEFAULTS.to,
    theme: query.get('theme') === 'light' ? 'light' : DEFAULTS.theme,
    open: query.get('open') === 'all',
    refresh: query.get('refresh') ?? board.refresh ?? DEFAULTS.refresh,
    viewed: query.get('viewPanel'),
    chosen,
  };
}

/** The address of what is shown, without the path. */
export function writeAddress(shown) {
  const query = new URLSearchParams();
  query.set('from', shown.from);
  query.set('to', shown.to);
  for (const [name, values] of Object.entries(shown.chosen)) {
    values.forEach((value) => query.append(`var-${name}`, value));
  }
  if (shown.refresh) {
    query.set('refresh', shown.refresh);
  }
  if (shown.theme === 'light') {
    query.set('theme', 'light');
  }
  if (shown.open) {
    query.set('open', 'all');
  }
  if (shown.viewed) {
    query.set('viewPanel', shown.viewed);
  }
  return `?${query}`;
}

/** Milliseconds between two looks, 0 for none. */
export function refreshMs(text) {
  const found = /^(\d+)(s|m|h)$/.exec(text);
  return found ? Number(found[1]) * {s: 1000, m: 60000, h: 3600000}[found[2]] : 0;
}
