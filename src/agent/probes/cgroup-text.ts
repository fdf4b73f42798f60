/** What `/proc/PID/cgroup` and `/proc/PID/mountinfo` say of cgroups. Pure. */

export interface CgroupMount {
  readonly version: 1 | 2;
  /** The folder. */
  readonly at: string;
  /** Of version 1. */
  readonly controllers: readonly string[];
}

/** @param text of `mountinfo`: `30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw` */
export function cgroupMounts(text: string): readonly CgroupMount[] {
  return text.split('\n').flatMap((line): readonly CgroupMount[] => {
    const [before = '', after = ''] = line.split(' - ', 2);
    const at = before.split(' ')[4] ?? '';
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') return [{ version: 2, at, controllers: [] }];
    return type === 'cgroup' ? [{ version: 1, at, controllers: options.split(',') }] : [];
  });
}

/**
 * @param text of `cgroup`: `0::/system.slice/kubelet.service`, `6:net_cls,net_prio:/kubelet`
 * @param controller empty for version 2
 */
export function cgroupPath(text: string, controller: string): string | undefined {
  for (const line of text.split('\n')) {
    const [, id, controllers = '', path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (controller === '' ? id === '0' : controllers.split(',').includes(controller)) return path;
  }
  return undefined;
}
