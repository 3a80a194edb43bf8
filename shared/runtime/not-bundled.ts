// Stands in for packages that are imported on the way to something else and never used (bundle.ts says which and why).

export default function notBundled(): never {
  throw new Error('this package is not part of the bundle')
}

// The names that @kubernetes/client-node takes from undici.
export { notBundled as Agent, notBundled as ProxyAgent, notBundled as fetch }
