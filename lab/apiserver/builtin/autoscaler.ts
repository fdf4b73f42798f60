/** HorizontalPodAutoscalers, stored as `v2` and also served as `v1`, with their defaults. No controller here scales by them. */
import type { Json, JsonObject } from '../json.ts';
import { at, clone, isObject, list, object, parseJson, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { withMeta } from '../object.ts';
import type { Strategy, View } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, required } from '../status.ts';

/** The annotation in which `v1` keeps the metrics that it has no field for. */
const OTHER_METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const DEFAULT_UTILIZATION = 80;

function cpuMetric(percentage: Json): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percentage } } };
}

function isCpuUtilization(metric: Json): boolean {
  return at(metric, 'resource', 'name') === 'cpu' && at(metric, 'resource', 'target', 'averageUtilization') !== undefined;
}

function withoutAnnotation(item: KubeObject): KubeObject {
  const { [OTHER_METRICS]: _kept, ...annotations } = item.metadata.annotations ?? {};
  const { annotations: _all, ...metadata } = item.metadata;
  return withMeta(item, Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations });
}

function otherMetrics(item: KubeObject): Json[] {
  const kept = item.metadata.annotations?.[OTHER_METRICS];
  if (kept === undefined) return [];
  try {
    return list(parseJson(kept));
  } catch {
    return [];
  }
}

const shown = new WeakMap<KubeObject, KubeObject>();

export const firstAutoscalerVersion: View = {
  toStorage: (item) => {
    const { targetCPUUtilizationPercentage: percentage, ...spec } = object(item['spec']);
    const { currentCPUUtilizationPercentage: _current, ...status } = object(item['status']);
    const metrics = [...otherMetrics(item), ...(percentage === undefined ? [] : [cpuMetric(percentage)])];
    const stored = { ...withoutAnnotation(item), apiVersion: 'autoscaling/v2', spec: { ...spec, metrics }, status };
    if (metrics.length === 0) stored.spec.metrics = [cpuMetric(DEFAULT_UTILIZATION)];
    return stored;
  },
  fromStorage: (item) => {
    let view = shown.get(item);
    if (view !== undefined) return view;
    const { metrics, behavior: _behavior, ...spec } = object(item['spec']);
    const { conditions: _conditions, currentMetrics: _metrics, ...status } = object(item['status']);
    const cpu = list(metrics).find(isCpuUtilization);
    const others = list(metrics).filter((metric) => metric !== cpu);
    const percentage = at(cpu, 'resource', 'target', 'averageUtilization');
    const annotations = { ...item.metadata.annotations, [OTHER_METRICS]: JSON.stringify(others) };
    view = {
      ...(others.length === 0 ? item : withMeta(item, { ...item.metadata, annotations })),
      apiVersion: 'autoscaling/v1',
      spec: { ...spec, ...(percentage === undefined ? {} : { targetCPUUtilizationPercentage: percentage }) },
      status: { currentReplicas: 0, desiredReplicas: 0, ...status },
    };
    shown.set(item, view);
    return view;
  },
};

function validate(item: KubeObject): FieldError[] {
  const spec = object(item['spec']);
  const least = Number(spec['minReplicas'] ?? 1);
  const most = Number(spec['maxReplicas'] ?? 0);
  const target = object(spec['scaleTargetRef']);
  return [
    ...(least < 1 ? [invalidValue('spec.minReplicas', least, 'must be greater than or equal to 1')] : []),
    ...(most < 1
      ? [invalidValue('spec.maxReplicas', most, 'must be greater than 0')]
      : most < least
        ? [invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`')]
        : []),
    ...['kind', 'name'].filter((field) => text(target[field]) === '').map((field) => required(`spec.scaleTargetRef.${field}`)),
  ];
}

export const autoscalers: Strategy = {
  prepareCreate: (item) => void (item['status'] = { desiredReplicas: 0, currentMetrics: null }),
  applyDefaults: (item) => {
    const spec = object(item['spec']);
    item['spec'] = spec;
    spec['minReplicas'] ??= 1;
    if (item.apiVersion !== 'autoscaling/v2') return;
    if (list(spec['metrics']).length === 0) spec['metrics'] = [cpuMetric(DEFAULT_UTILIZATION)];
  },
  validate,
};

/** `cpu: <unknown>/80%`: the measured value, which is unknown here since no component measures it, and the target. */
export function metricTargets(item: KubeObject): string {
  const metrics = list(at(item, 'spec', 'metrics')).map((metric, index) => {
    const kind = text(at(metric, 'type'));
    const source = object(at(metric, kind.charAt(0).toLowerCase() + kind.slice(1)));
    const current = object(at(list(at(item, 'status', 'currentMetrics')), index));
    const measured = object(at(object(current[kind.charAt(0).toLowerCase() + kind.slice(1)]), 'current'));
    const target = object(source['target']);
    const field = ['averageValue', 'averageUtilization', 'value'].find((key) => target[key] !== undefined) ?? 'value';
    const shownAs = (value: Json | undefined, unknown: string): string =>
      value === undefined ? unknown : `${String(value)}${field === 'averageUtilization' ? '%' : ''}`;
    const name = kind === 'Resource' || kind === 'ContainerResource' ? `${text(source['name'])}: ` : '';
    return `${name}${shownAs(measured[field], '<unknown>')}/${shownAs(target[field], '<auto>')}`;
  });
  if (metrics.length === 0) return '<none>';
  return metrics.length > 2 ? `${metrics.slice(0, 2).join(', ')} + ${metrics.length - 2} more...` : metrics.join(', ');
}

/** The object in the stored version, which the columns read. */
export function asStored(item: KubeObject): KubeObject {
  return isObject(at(item, 'spec', 'metrics')) || item.apiVersion === 'autoscaling/v2'
    ? item
    : firstAutoscalerVersion.toStorage(clone(item));
}
