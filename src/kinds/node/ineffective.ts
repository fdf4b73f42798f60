export { nodeFindings as ineffective } from '../../compile/node/node-chassis.ts';
