// A file that imports this runs in both tiers: a quarter of the tries in `npm test`, a tenth in `npm run test:fast`, all in `npm run test:cluster`.
const share = Number(process.env['DROVER_TRIES'] ?? 1)

/** How often a property is tried, of as often as said. */
export const many = (times: number): number => Math.ceil(times * share)
