/** A duration as kubectl prints it: `45s`, `3m20s`, `12m`, `5h29m`, `26h`, `5d3h`, `20d`, `2y11d`. */

/** @param ms milliseconds */
export function ageText(ms: number): string {
  const seconds = Math.floor(Math.max(ms, 0) / 1_000);
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return joined(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return joined(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return joined(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return joined(Math.floor(days / 365), 'y', days % 365, 'd');
}

function joined(big: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${unit}` : `${big}${unit}${small}${smallUnit}`;
}
