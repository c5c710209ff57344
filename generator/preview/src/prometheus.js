// The query API of Prometheus, behind the server of the preview.

const VARIABLE_QUERY = /^label_values\(([\s\S]+),\s*(\w+)\)$/;

/** What a failed query says. */
export class QueryError extends Error {}

async function asked(path, form, signal) {
  let answer;
  let found;
  try {
    answer = await fetch(path, form ? {method: 'POST', body: new URLSearchParams(form), signal} : {signal});
    found = await answer.json();
  } catch (error) {
    if (error.name === 'AbortError') {
      throw error;
    }
    throw new QueryError(`no answer from the preview: ${error.message}`);
  }
  if (found.status !== 'success') {
    throw new QueryError(found.error ?? `status ${answer.status}`);
  }
  return found.data;
}

/** The result at one time, in seconds. */
export async function instant(query, at, signal) {
  return (await asked('/api/v1/query', {query, time: at.toFixed(3)}, signal)).result;
}

/** The result over a time, with a point every so many seconds. */
export async function overTime(query, start, end, stepS, signal) {
  const form = {query, start: start.toFixed(3), end: end.toFixed(3), step: String(stepS)};
  return (await asked('/api/v1/query_range', form, signal)).result;
}

/** The values that a variable's query `label_values(series, label)` gives, sorted. */
export async function labelValues(query, start, end, signal) {
  const found = VARIABLE_QUERY.exec(query);
  if (!found) {
    throw new QueryError(`not a query such as label_values(series, label): ${query}`);
  }
  const parameters = new URLSearchParams({'match[]': found[1], start: start.toFixed(3), end: end.toFixed(3)});
  const values = await asked(`/api/v1/label/${found[2]}/values?${parameters}`, null, signal);
  return values.sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
}

/** Alerts that are pending or firing. */
export async function alerts(signal) {
  return (await asked('/api/v1/alerts', null, signal)).alerts;
}
