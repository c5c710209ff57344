// Which component draws which kind of panel.
import {AlertList} from './alertlist.jsx';
import {BarGauge} from './bargauge.jsx';
import {Gauge} from './gauge.jsx';
import {Heatmap} from './heatmap.jsx';
import {Logs} from './logs.jsx';
import {Pie} from './pie.jsx';
import {Stat} from './stat.jsx';
import {Table} from './table.jsx';
import {Text} from './text.jsx';
import {Timeline} from './timeline.jsx';
import {TimeSeries} from './timeseries.jsx';

export const KINDS = {
  alertlist: AlertList,
  bargauge: BarGauge,
  gauge: Gauge,
  heatmap: Heatmap,
  logs: Logs,
  piechart: Pie,
  stat: Stat,
  'state-timeline': Timeline,
  'status-history': Timeline,
  table: Table,
  text: Text,
  timeseries: TimeSeries,
};
