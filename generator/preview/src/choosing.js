// Runs the queries of a board's variables from left to right: a later one may depend on an earlier one.
import {labelValues} from './prometheus.js';
import {filled, ownVariables} from './query.js';
import {chosenOf, settled} from './variables.js';

/** What can be chosen, and what is: {variables, chosen, options, errors}. */
export async function choose(board, wanted, range, scrapeS, signal) {
  const state = {variables: [], chosen: {}, options: {}, errors: {}};
  for (const variable of board.templating?.list ?? []) {
    const {name} = variable;
    state.variables.push(variable);
    let values = [];
    if (variable.type === 'query') {
      const text = typeof variable.query === 'string' ? variable.query : variable.query.query;
      try {
        const query = filled(text, state, ownVariables(range.end - range.start, 60, scrapeS));
        values = await labelValues(query, range.start, range.end, signal);
      } catch (error) {
        if (signal.aborted) {
          throw error;
        }
        state.errors[name] = error.message;
      }
    } else if (variable.type === 'datasource') {
      values = ['prometheus'];
    } else {
      values = (variable.options ?? []).map((option) => option.value);
    }
    state.options[name] = values;
    const chosen = variable.type === 'datasource' ? values : chosenOf(variable, wanted[name]);
    state.chosen[name] = settled(variable, chosen, values);
  }
  return state;
}
