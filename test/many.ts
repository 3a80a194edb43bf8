/** How often a property is tried: as often as said in `npm test`, a tenth of it in `npm run test:fast`. */
export const many = (times: number): number => (process.env['DROVER_FAST'] === 'true' ? Math.ceil(times / 10) : times)
