import {useEffect, useState} from 'react';
import {alerts} from '../prometheus.js';

const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:\\.|[^"\\])*)"/g;

/** Whether the labels of an alert meet conditions such as {cluster=~"a|b", severity!="info"}. */
export function meets(labels, filter) {
  for (const [, name, sign, quoted] of (filter ?? '').matchAll(MATCHER)) {
    const wanted = quoted.replace(/\\(.)/g, '$1');
    const value = labels[name] ?? '';
    const same = sign.endsWith('~') ? new RegExp(`^(?:${wanted})$`).test(value) : value === wanted;
    if (same === sign.startsWith('!')) {
      return false;
    }
  }
  return true;
}

/** Alerts of Prometheus: a stand-in for the panel that lists those of Grafana. */
export function AlertList({panel, theme, height, interpolateQuery, turn, onState}) {
  const [found, setFound] = useState();
  const filter = interpolateQuery(panel.options.alertInstanceLabelFilter ?? '');
  useEffect(() => {
    const gone = new AbortController();
    alerts(gone.signal).then(
      (list) => {
        const shown = list.filter((alert) => panel.options.stateFilter?.[alert.state] !== false && meets(alert.labels, filter));
        setFound(shown);
        onState(shown.length ? 'ok' : 'empty');
      },
      (error) => gone.signal.aborted || onState('error', error.message)
    );
    return () => gone.abort();
  }, [filter, turn]);
  if (!found) {
    return null;
  }
  if (!found.length) {
    return <div style={{padding: 16, textAlign: 'center', color: theme.colors.text.secondary}}>No alerts matching filters</div>;
  }
  return (
    <div style={{height, overflow: 'auto'}}>
      {found.slice(0, panel.options.maxItems ?? 20).map((alert, index) => (
        <div key={index} style={{padding: '6px 8px', borderBottom: `1px solid ${theme.colors.border.weak}`}}>
          <b>{alert.labels.alertname}</b>{' '}
          <span style={{color: alert.state === 'firing' ? theme.colors.error.text : theme.colors.warning.text}}>{alert.state}</span>
          <div style={{color: theme.colors.text.secondary, fontSize: 12}}>
            {Object.entries(alert.labels).filter(([name]) => name !== 'alertname').map((pair) => pair.join('=')).join(' ')}
          </div>
        </div>
      ))}
    </div>
  );
}
