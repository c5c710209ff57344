import {useEffect, useMemo, useRef, useState} from 'react';
import {dateTime, rangeUtil} from '@grafana/data';
import {readAddress, refreshMs, writeAddress} from './address.js';
import {eventsIn} from './annotations.js';
import {choose} from './choosing.js';
import {Choices, Toolbar} from './Controls.jsx';
import {Grid} from './Grid.jsx';

const MARGIN = 16;

function isNumber(text) {
  return /^\d+$/.test(text);
}

/** The time range that two texts of an address mean: relative ones, milliseconds since 1970, or dates. */
export function timeRangeOf({from, to}) {
  const raw = (text) => (isNumber(text) ? dateTime(Number(text)) : text.startsWith('now') ? text : dateTime(text));
  return rangeUtil.convertRawToRange({from: raw(from), to: raw(to)}, 'browser');
}

function useWidth() {
  const [width, setWidth] = useState(document.documentElement.clientWidth);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(document.documentElement.clientWidth));
    watch.observe(document.documentElement);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** A board with all that can be chosen. */
export function Board({board, boards, scrapeS, shown, onShown, theme}) {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState(null);
  const [problem, setProblem] = useState('');
  const [looked, setLooked] = useState(null);
  const events = useRef([]);
  const [, setDrawn] = useState(0);
  const [enabled, setEnabled] = useState(() => (board.annotations?.list ?? []).filter((one) => one.enable && one.expr).map((one) => one.name));
  const width = useWidth() - 2 * MARGIN;
  const wanted = JSON.stringify(shown.chosen);

  useEffect(() => {
    const gone = new AbortController();
    const timeRange = timeRangeOf(shown);
    const range = {start: timeRange.from.valueOf() / 1000, end: timeRange.to.valueOf() / 1000};
    choose(board, shown.chosen, range, scrapeS, gone.signal).then(
      (next) => {
        if (gone.signal.aborted) {
          return;
        }
        setState(next);
        setLooked({timeRange, range});
        document.title = `${board.title} · gpuscope preview`;
        window.history.replaceState(null, '', writeAddress({...shown, chosen: next.chosen}));
        eventsIn(board, enabled, range, next, gone.signal, setProblem).then((found) => {
          if (!gone.signal.aborted) {
            events.current = found;
            setDrawn((count) => count + 1);
          }
        });
      },
      (error) => gone.signal.aborted || setProblem(error.message)
    );
    return () => gone.abort();
  }, [board, shown.from, shown.to, wanted, turn, enabled]);

  useEffect(() => {
    const every = refreshMs(shown.refresh);
    const timer = every ? setInterval(() => setTurn((count) => count + 1), every) : 0;
    return () => clearInterval(timer);
  }, [shown.refresh]);

  const common = useMemo(
    () => looked && {state, ...looked, shown, scrapeS, events: () => events.current},
    [looked, state, events.current]
  );
  return (
    <main style={{padding: `0 ${MARGIN}px ${MARGIN}px`, minHeight: '100vh', background: theme.colors.background.canvas, color: theme.colors.text.primary}}>
      {common && (
        <>
          <Toolbar board={board} boards={boards} shown={shown} state={state} timeRange={looked.timeRange} theme={theme} onShown={onShown} onLook={() => setTurn(turn + 1)} />
          <Choices
            board={board}
            state={state}
            enabled={enabled}
            onEnabled={setEnabled}
            theme={theme}
            onChoose={(name, values) => onShown({chosen: {...state.chosen, [name]: values}})}
          />
        </>
      )}
      {problem && <p role="alert" data-problem style={{color: theme.colors.error.text}}>{problem}</p>}
      {common && (
        <Grid
          panels={board.panels}
          width={width}
          board={common}
          theme={theme}
          allOpen={shown.open}
          viewed={shown.viewed}
          onZoom={({from, to}) => onShown({from: String(Math.round(from)), to: String(Math.round(to))})}
        />
      )}
      <footer style={{color: theme.colors.text.secondary, fontSize: 12, paddingTop: 16}}>
        Rendered with Grafana&apos;s UI library; no Grafana runs here. Gauge, pie, heat map, state timeline, status history, logs,
        text and alert list are stand-ins.
      </footer>
    </main>
  );
}

export {readAddress};
