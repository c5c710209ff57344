import {useState} from 'react';
import {Panel} from './Panel.jsx';
import {place, repeated, sections} from './layout.js';

function Row({row, open, onToggle, theme, count}) {
  return (
    <button
      onClick={onToggle}
      aria-expanded={open}
      data-row={row.id}
      style={{
        all: 'unset',
        cursor: 'pointer',
        display: 'block',
        height: 30,
        lineHeight: '30px',
        margin: '0 0 8px',
        fontSize: theme.typography.h5.fontSize,
        fontWeight: 500,
        color: theme.colors.text.primary,
      }}
    >
      {open ? '▾' : '▸'} {row.title}{' '}
      {!open && <span style={{color: theme.colors.text.secondary, fontWeight: 400}}>({count} panels)</span>}
    </button>
  );
}

/** All rows of a board. What is closed is not there at all, and asks nothing. */
export function Grid({panels, width, board, theme, allOpen, viewed, onZoom}) {
  const [turned, setTurned] = useState({});
  const valuesOf = (name) => {
    const chosen = board.state.chosen[name] ?? [];
    return chosen.includes('$__all') ? (board.state.options[name] ?? []) : chosen;
  };
  const every = repeated(panels, valuesOf);
  if (viewed) {
    const one = every.flatMap((panel) => panel.panels ?? [panel]).find((panel) => String(panel.id) === viewed);
    return one ? <Panel panel={one} width={width} height={640} board={board} theme={theme} onZoom={onZoom} /> : <p>No such panel.</p>;
  }
  return sections(every).map((section, index) => {
    const key = section.row?.id ?? `top ${index}`;
    const open = turned[key] ?? (allOpen || !section.row?.collapsed);
    return (
      <div key={key}>
        {section.row && (
          <Row
            row={section.row}
            open={open}
            count={section.panels.length}
            theme={theme}
            onToggle={() => setTurned({...turned, [key]: !open})}
          />
        )}
        {open && (
          <div style={{position: 'relative', height: section.height}}>
            {section.panels.map((panel) => {
              const at = place(panel.gridPos, section.top, width);
              return (
                <div key={`${panel.id} ${panel.copy ?? ''}`} style={{position: 'absolute', left: at.left, top: at.top, width: at.width, height: at.height}}>
                  <Panel panel={panel} width={at.width} height={at.height} board={board} theme={theme} onZoom={onZoom} />
                </div>
              );
            })}
          </div>
        )}
      </div>
    );
  });
}
