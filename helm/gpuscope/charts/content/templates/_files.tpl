{{/* Files only: the chart around this one renders them. */}}
