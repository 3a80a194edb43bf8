// A certificate for 127.0.0.1, made at each start: kubectl and client-node refuse plain HTTP.
import { selfSigned, type Certificate } from '../../runtime/self-signed.ts'

export const makeCertificate = (now: Date): Certificate =>
  selfSigned({ commonName: 'drover-kube-api', names: ['127.0.0.1', 'localhost'], days: 3650 }, now)
