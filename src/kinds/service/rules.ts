import { serviceVips } from '../../compile/service/service-vips.ts';

export const rules = [serviceVips];
