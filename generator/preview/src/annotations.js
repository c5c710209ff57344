// Events over the graphs, from the queries of a board's annotations.
import {legend} from './frames.js';
import {step, seconds} from './interval.js';
import {overTime} from './prometheus.js';
import {aligned, filled, ownVariables} from './query.js';

const PIXELS = 1200;

/** Events of one series: samples that follow each other are one event. */
export function eventsOf(annotation, series, stepS) {
  const found = [];
  for (const [at, value] of series.values ?? []) {
    if (!Number(value)) {
      continue;
    }
    const last = found.at(-1);
    if (last && at * 1000 - last.to <= stepS * 1000 * 1.5) {
      last.to = at * 1000;
    } else {
      found.push({
        from: at * 1000,
        to: at * 1000,
        color: annotation.iconColor,
        title: legend(annotation.titleFormat, series.metric, annotation.name),
        text: annotation.textFormat ? legend(annotation.textFormat, series.metric, '') : '',
      });
    }
  }
  return found;
}

/** Stretches of one color that overlap, as one each: many events at once must not hide the lines. */
export function regions(events) {
  const found = [];
  for (const event of [...events].sort((a, b) => a.from - b.from)) {
    const last = found.findLast((one) => one.color === event.color);
    if (last && event.from <= last.to) {
      last.to = Math.max(last.to, event.to);
    } else {
      found.push({from: event.from, to: event.to, color: event.color});
    }
  }
  return found;
}

/** All events of the annotations that are switched on; `told` hears of a query that fails. */
export async function eventsIn(board, enabled, range, state, signal, told) {
  const wanted = (board.annotations?.list ?? []).filter((one) => one.expr && enabled.includes(one.name));
  const found = await Promise.all(
    wanted.map(async (annotation) => {
      const stepS = step(range.end - range.start, PIXELS, seconds(annotation.step || '60s'));
      const query = filled(annotation.expr, state, ownVariables(range.end - range.start, stepS, stepS));
      try {
        const result = await overTime(query, ...aligned(range, stepS), stepS, signal);
        return result.flatMap((series) => eventsOf(annotation, series, stepS));
      } catch (error) {
        if (!signal.aborted) {
          told(`${annotation.name}: ${error.message}`);
        }
        return [];
      }
    })
  );
  return found.flat();
}
