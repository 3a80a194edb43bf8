// What `npm run bundle` puts beside this function's code.
export { pack as default } from './assets.ts'
