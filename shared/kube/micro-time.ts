/** metav1.MicroTime, which wants all six digits. */
export const microTime = (time: Date): string => time.toISOString().replace('Z', '000Z')
