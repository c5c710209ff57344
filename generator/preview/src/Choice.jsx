import {useEffect, useRef, useState} from 'react';
import {ALL} from './variables.js';

function shownText(variable, chosen, texts) {
  if (!chosen.length) {
    return 'None';
  }
  return chosen.map((value) => (value === ALL ? 'All' : (texts[value] ?? value))).join(' + ');
}

/** What a click on an option leaves chosen. */
export function clicked(variable, chosen, value) {
  if (!variable.multi || value === ALL) {
    return [value];
  }
  const rest = chosen.filter((one) => one !== ALL && one !== value);
  const next = chosen.includes(value) ? rest : [...rest, value];
  return next.length ? next : [variable.includeAll ? ALL : value];
}

/** A drop-down for one variable. */
export function Choice({variable, chosen, options, texts = {}, error, onChange, theme}) {
  const [open, setOpen] = useState(false);
  const [sought, setSought] = useState('');
  const frame = useRef(null);
  useEffect(() => {
    const close = (event) => frame.current?.contains(event.target) || setOpen(false);
    document.addEventListener('mousedown', close);
    return () => document.removeEventListener('mousedown', close);
  }, []);
  const box = {
    border: `1px solid ${error ? theme.colors.error.border : theme.components.input.borderColor}`,
    background: theme.components.input.background,
    color: theme.colors.text.primary,
    height: 32,
    font: 'inherit',
    maxWidth: 260,
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    padding: '0 8px',
    cursor: 'pointer',
  };
  const every = [...(variable.includeAll ? [ALL] : []), ...options];
  const listed = every.filter((value) => (value === ALL ? 'All' : value).toLowerCase().includes(sought.toLowerCase()));
  return (
    <div ref={frame} style={{position: 'relative', display: 'flex'}} data-variable={variable.name} data-error={error || undefined} title={error}>
      <span style={{...box, cursor: 'default', display: 'flex', alignItems: 'center', background: theme.colors.background.secondary, borderRight: 0, fontSize: 12, fontWeight: 500}}>
        {variable.label || variable.name}
      </span>
      <button style={box} onClick={() => setOpen(!open)} aria-haspopup="listbox" aria-expanded={open} aria-label={variable.label || variable.name}>
        {shownText(variable, chosen, texts)} ▾
      </button>
      {open && (
        <div
          role="listbox"
          style={{
            position: 'absolute', top: 34, right: 0, zIndex: 100, maxHeight: 360, overflow: 'auto', minWidth: 200,
            background: theme.colors.background.elevated, border: `1px solid ${theme.colors.border.medium}`, boxShadow: theme.shadows.z3,
          }}
        >
          {every.length > 8 && (
            <input autoFocus value={sought} onChange={(event) => setSought(event.target.value)} placeholder="Search" aria-label="Search" style={{...box, width: '100%', boxSizing: 'border-box', cursor: 'text'}} />
          )}
          {listed.map((value) => (
            <div
              key={value}
              role="option"
              aria-selected={chosen.includes(value)}
              onClick={() => {
                onChange(clicked(variable, chosen, value));
                setOpen(variable.multi);
              }}
              style={{padding: '6px 12px', cursor: 'pointer', whiteSpace: 'nowrap', background: chosen.includes(value) ? theme.colors.action.selected : undefined}}
            >
              {variable.multi ? (chosen.includes(value) ? '☑ ' : '☐ ') : ''}
              {value === ALL ? 'All' : (texts[value] ?? value)}
            </div>
          ))}
          {!options.length && <div style={{padding: 8, color: theme.colors.text.secondary}}>{error || 'No values'}</div>}
        </div>
      )}
    </div>
  );
}
