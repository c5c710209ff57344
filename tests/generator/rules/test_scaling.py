"""Replicas and autoscalers, as two kube-state-metrics and KEDA tell of them."""

from pathlib import Path

from tests.generator.promtool import expect


def test_two_kube_state_metrics_are_no_error_and_count_once(tmp_path: Path) -> None:
    """Defect 2 and complaint 17: joins are guarded, and duplicates give one series."""
    samples: dict[str, str] = {}
    target = 'scaletargetref_kind="Deployment",scaletargetref_name="chat"'
    metric = 'metric_name="q",metric_target_type="average"'
    # The second one is scraped without honoring labels: the objects' own are called exported_….
    for instance, own in (
        ("ksm-a:8080", 'namespace="s"'),
        ("ksm-b:8080", 'namespace="monitoring",exported_namespace="s"'),
    ):
        base = f'cluster="c",instance="{instance}",{own}'
        scaler = f'{base},horizontalpodautoscaler="keda-hpa-chat"'
        samples |= {
            f'kube_deployment_spec_replicas{{{base},deployment="chat"}}': "3x12",
            f'kube_deployment_status_replicas_ready{{{base},deployment="chat"}}': "2x12",
            f'kube_statefulset_replicas{{{base},statefulset="tgi"}}': "1x12",
            f"kube_horizontalpodautoscaler_info{{{scaler},{target}}}": "1x12",
            f"kube_horizontalpodautoscaler_spec_max_replicas{{{scaler}}}": "6x12",
            f"kube_horizontalpodautoscaler_status_desired_replicas{{{scaler}}}": "4x12",
            f"kube_horizontalpodautoscaler_spec_target_metric{{{scaler},{metric}}}": "10x12",
        }
    keda = 'cluster="c",namespace="s",scaledObject="chat",scaler="prometheus",metric="q"'
    samples[f"keda_scaler_metrics_value{{{keda}}}"] = "64x12"
    chat = '{cluster="c",namespace="s",workload_kind="Deployment",workload="chat"%s}'
    by = "sum by (cluster, namespace, workload_kind, workload, {}) ({})"
    expect(
        tmp_path,
        samples,
        {
            by.format("state", "workload:replicas:union"): {
                chat % ',state="wanted"': 3,
                chat % ',state="ready"': 2,
                chat % ',state="maximum"': 6,
                chat % ',state="scaler_wanted"': 4,
                '{cluster="c",namespace="s",workload_kind="StatefulSet",workload="tgi",state="wanted"}': 1,
            },
            by.format("what", "workload:autoscaler_metric:union"): {
                chat % ',what="target"': 10,
                '{cluster="c",namespace="s",workload_kind="ScaledObject",workload="chat",what="scaler"}': 64,
            },
        },
        at="3m",
        only=("scaling",),
    )
