/**
 * The desired state of the controller's rules: all outputs by identity, in one part for each target (Northbound rows, Kubernetes objects)
 * or other reader (the allocation step, Events), and the identities with outputs that have changed since that reader last looked (`due…`).
 */
import type { World } from '../world/world.ts';
import { DesiredAddresses } from './desired-addresses.ts';
import { DesiredObjects } from './desired-objects.ts';
import { DesiredReports } from './desired-reports.ts';
import { DesiredRows } from './desired-rows.ts';
import type { Output } from './output.ts';
import { Outputs } from '../engine/outputs.ts';

export class Desired extends Outputs<Output> {
  readonly rows: DesiredRows;
  readonly objects: DesiredObjects;
  readonly addresses: DesiredAddresses;
  readonly reports: DesiredReports;

  /** @param world for outputs that select pods; without one there are none */
  constructor(world?: World) {
    const rows = new DesiredRows(world);
    const objects = new DesiredObjects();
    const addresses = new DesiredAddresses();
    const reports = new DesiredReports();
    super([rows, objects, addresses, reports]);
    this.rows = rows;
    this.objects = objects;
    this.addresses = addresses;
    this.reports = reports;
  }
}
