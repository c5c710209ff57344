import {Component, useEffect, useRef, useState} from 'react';
import {LoadingState} from '@grafana/data';
import {PanelChrome} from '@grafana/ui';
import {withFieldOptions, transformed} from './fields.js';
import {replacer} from './links.js';
import {KINDS} from './panels/kinds.js';
import {filled, framesOf, ownVariables} from './query.js';

const WITHOUT_QUERY = ['text', 'alertlist'];
// These say in their own way that there is nothing.
const SAYS_NOTHING = ['stat', 'gauge', 'bargauge'];

class Boundary extends Component {
  state = {error: null};

  static getDerivedStateFromError(error) {
    return {error};
  }

  componentDidCatch(error) {
    this.props.onError(error);
  }

  componentDidUpdate(before) {
    if (before.data !== this.props.data && this.state.error) {
      this.setState({error: null});
    }
  }

  render() {
    return this.state.error ? <Message text={`This panel cannot be drawn: ${this.state.error.message}`} /> : this.props.children;
  }
}

function Message({text}) {
  return (
    <div style={{height: '100%', display: 'flex', alignItems: 'center', justifyContent: 'center', textAlign: 'center', padding: 8, opacity: 0.75}}>
      <span>{text}</span>
    </div>
  );
}

function isEmpty(frames) {
  return !frames.some((frame) => frame.length > 0 && frame.fields.length > 0);
}

function valuesKnown(frames) {
  return frames.some((frame) =>
    frame.fields.some((field) => field.type === 'number' ? field.values.some((value) => Number.isFinite(value)) : field.type === 'nestedFrames' && field.values.length > 0)
  );
}

function useFrames(panel, width, range, state, scrapeS, replaceVariables) {
  const [found, setFound] = useState({frames: null, error: '', loading: true, revision: 0});
  useEffect(() => {
    if (WITHOUT_QUERY.includes(panel.type)) {
      setFound({frames: [], error: '', loading: false, revision: 0});
      return undefined;
    }
    const gone = new AbortController();
    setFound((before) => ({...before, loading: true}));
    framesOf(panel, width, range, state, scrapeS, gone.signal)
      .then((frames) => transformed(panel, frames, replaceVariables))
      .then(
        (frames) => gone.signal.aborted || setFound((before) => ({frames, error: '', loading: false, revision: before.revision + 1})),
        (error) => gone.signal.aborted || setFound((before) => ({...before, frames: null, error: error.message, loading: false}))
      );
    return () => gone.abort();
  }, [panel, range, state]);
  return found;
}

function stateOf(panel, found, told) {
  if (told.state) {
    return told;
  }
  if (found.loading) {
    return {state: 'loading', message: ''};
  }
  if (found.error) {
    return {state: 'error', message: found.error};
  }
  if (panel.type === 'text') {
    return {state: 'ok', message: ''};
  }
  if (panel.type === 'alertlist') {
    return {state: 'loading', message: ''};
  }
  if (isEmpty(found.frames)) {
    return {state: 'empty', message: ''};
  }
  return {state: valuesKnown(found.frames) ? 'ok' : 'nan', message: ''};
}

function Body({panel, frames, error, width, height, theme, common}) {
  const Kind = KINDS[panel.type];
  if (!Kind) {
    return <Message text={`No stand-in for panels of the kind ${panel.type}`} />;
  }
  if (error) {
    return <Message text={error} />;
  }
  const data = withFieldOptions(panel, frames, theme, common.replaceVariables);
  if (!WITHOUT_QUERY.includes(panel.type) && !SAYS_NOTHING.includes(panel.type) && isEmpty(data)) {
    return <Message text={panel.fieldConfig?.defaults?.noValue ?? 'No data'} />;
  }
  return <Kind {...common} panel={panel} data={data} width={width} height={height} theme={theme} />;
}

/** One panel: its frame, its queries, and what draws them. */
export function Panel({panel, width, height, board, theme, onZoom}) {
  const {range, timeRange, shown, events, scrapeS} = board;
  const state = useRef(board.state);
  state.current = panel.scoped ? scopedState(board.state, panel.scoped, state.current) : board.state;
  const replaceVariables = replacer(state.current, shown);
  const found = useFrames(panel, Math.round(width), range, state.current, scrapeS, replaceVariables);
  const [told, setTold] = useState({});
  const status = stateOf(panel, found, told);
  const own = ownVariables(range.end - range.start, 60, scrapeS);
  const common = {
    replaceVariables,
    interpolateQuery: (text) => filled(text, state.current, own),
    timeRange,
    events,
    onZoom,
    revision: found.revision,
    turn: range,
    onState: (name, message = '') => setTold({state: name, message}),
  };
  return (
    <section data-panel={panel.id} data-kind={panel.type} data-state={status.state} data-message={status.message} aria-label={panel.title}>
      <PanelChrome
        title={replaceVariables(panel.title)}
        description={panel.description ? () => markdownLines(replaceVariables(panel.description)) : undefined}
        width={width}
        height={height}
        padding={panel.type === 'table' || panel.type === 'alertlist' ? 'none' : 'md'}
        loadingState={found.loading ? LoadingState.Loading : LoadingState.Done}
        statusMessage={status.state === 'error' ? status.message : undefined}
      >
        {(w, h) => (
          <Boundary data={found.frames} onError={(error) => setTold({state: 'error', message: error.message})}>
            {(found.frames || found.error) && (
              <Body panel={panel} frames={found.frames} error={found.error} width={w} height={h} theme={theme} common={common} />
            )}
          </Boundary>
        )}
      </PanelChrome>
    </section>
  );
}

function scopedState(state, scoped, before) {
  if (before?.base === state) {
    return before;
  }
  return {...state, base: state, chosen: {...state.chosen, ...scoped}};
}

function markdownLines(text) {
  return text.replace(/\n\n/g, '<br/><br/>').replace(/\*\*(.+?)\*\*/g, '<b>$1</b>');
}
