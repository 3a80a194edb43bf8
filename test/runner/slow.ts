/**
 * Test files that live for more than some seconds of computing, left to `npm test`: real servers, whole fleets, storms, a broker killed
 * again and again, and most of the drains that are played through.
 */
export const slow =
  /\.real\.test\.ts$|\/package\.test\.ts$|^test\/(?:cli|runner)\/|^test\/local\/(?:demo|start|fleet\/(?:actions|agents|scenarios|simulated)|broker\/durability|kube-api\/bounds)|\/(?:asked|calls|random-[2-8]|storm|together)\.test\.ts$/
