/* SPDX-License-Identifier: GPL-2.0 */
/* Format of performance MADs. */
#ifndef HROCE_CORE_PMA_H
#define HROCE_CORE_PMA_H

/* Offset of the attribute in the data of a performance MAD (16.1.1). */
#define HROCE_PMA_DATA	40

#endif /* HROCE_CORE_PMA_H */
