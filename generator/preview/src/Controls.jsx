import {TimeRangePicker} from '@grafana/ui';
import {formatted} from './variables.js';
import {Choice} from './Choice.jsx';

const REFRESH = ['', '5s', '10s', '30s', '1m', '5m', '15m', '30m', '1h'];

function boxed(theme) {
  return {
    height: 32,
    width: 'auto',
    padding: '0 8px',
    font: 'inherit',
    cursor: 'pointer',
    color: theme.colors.text.primary,
    background: theme.colors.secondary.main,
    border: `1px solid ${theme.colors.secondary.border}`,
    borderRadius: theme.shape.radius.default,
  };
}

function Menu({boards, shown, state, theme}) {
  const query = [`from=${encodeURIComponent(shown.from)}`, `to=${encodeURIComponent(shown.to)}`]
    .concat(state.variables.map((one) => formatted(one, state.chosen[one.name] ?? [], [], 'queryparam')))
    .filter(Boolean)
    .join('&');
  const kept = (shown.theme === 'light' ? '&theme=light' : '') + (shown.open ? '&open=all' : '');
  return (
    <select style={boxed(theme)} aria-label="GPU boards" value="" onChange={(event) => window.location.assign(`${event.target.value}?${query}${kept}`)}>
      <option value="">GPU boards</option>
      {boards.map((board) => (
        <option key={board.uid} value={board.url}>{board.title}</option>
      ))}
    </select>
  );
}

/** The line at the top: time range, refresh, theme, and the way to the other boards. */
export function Toolbar({board, boards, shown, state, timeRange, theme, onShown, onLook}) {
  const move = (share) => {
    const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
    const by = (to - from) * share;
    onShown({from: String(Math.round(from + by)), to: String(Math.round(to + by))});
  };
  const raw = (value) => (typeof value === 'string' ? value : String(value.valueOf()));
  return (
    <div style={{display: 'flex', gap: 8, alignItems: 'center', flexWrap: 'wrap', padding: '8px 0'}}>
      <a href="/" style={{color: theme.colors.text.link}}>Boards</a>
      <h1 style={{fontSize: theme.typography.h4.fontSize, margin: 0, flex: 1}} title={board.description}>{board.title}</h1>
      <Menu boards={boards} shown={shown} state={state} theme={theme} />
      <TimeRangePicker
        value={timeRange}
        timeZone="browser"
        onChange={(range) => onShown({from: raw(range.raw.from), to: raw(range.raw.to)})}
        onChangeTimeZone={() => {}}
        onMoveBackward={() => move(-0.5)}
        onMoveForward={() => move(0.5)}
        onZoom={() => {
          const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
          onShown({from: String(Math.round(from - (to - from) / 2)), to: String(Math.round(to + (to - from) / 2))});
        }}
      />
      <button style={boxed(theme)} onClick={onLook}>Refresh</button>
      <select style={boxed(theme)} aria-label="Refresh every" value={shown.refresh} onChange={(event) => onShown({refresh: event.target.value})}>
        {[...new Set([...REFRESH, shown.refresh])].map((text) => (
          <option key={text} value={text}>{text ? `every ${text}` : 'no refresh'}</option>
        ))}
      </select>
      <button style={boxed(theme)} onClick={() => onShown({open: !shown.open})}>{shown.open ? 'Close rows' : 'Open all rows'}</button>
      <button style={boxed(theme)} onClick={() => onShown({theme: shown.theme === 'light' ? 'dark' : 'light'})}>
        {shown.theme === 'light' ? 'Dark' : 'Light'}
      </button>
    </div>
  );
}

/** The variables and the switches of the annotations. */
export function Choices({board, state, enabled, onEnabled, theme, onChoose}) {
  return (
    <div style={{display: 'flex', gap: 8, flexWrap: 'wrap', alignItems: 'center', padding: '0 0 8px'}}>
      {state.variables.filter((variable) => variable.hide !== 2).map((variable) => (
        <Choice
          key={variable.name}
          variable={variable}
          chosen={state.chosen[variable.name] ?? []}
          options={state.options[variable.name] ?? []}
          texts={Object.fromEntries((variable.options ?? []).map((one) => [one.value, one.text]))}
          error={state.errors[variable.name]}
          theme={theme}
          onChange={(values) => onChoose(variable.name, values)}
        />
      ))}
      {(board.annotations?.list ?? []).filter((one) => one.expr).map((one) => (
        <label key={one.name} style={{display: 'flex', gap: 4, alignItems: 'center', fontSize: 12, margin: 0}}>
          <input
            type="checkbox"
            checked={enabled.includes(one.name)}
            onChange={() => onEnabled(enabled.includes(one.name) ? enabled.filter((name) => name !== one.name) : [...enabled, one.name])}
          />
          <span style={{color: theme.visualization.getColorByName(one.iconColor)}}>■</span> {one.name}
        </label>
      ))}
    </div>
  );
}
