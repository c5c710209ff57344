"""What the Helm chart takes from the generator: boards, rules, the schema of its values, and the table of them."""

from gpuscope_generator.chart.files import CHART, CONTENT, chart_files

__all__ = ["CHART", "CONTENT", "chart_files"]
