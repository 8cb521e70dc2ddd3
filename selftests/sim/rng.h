/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers of simulators (splitmix64): a run repeats from its seed. */
#ifndef RNG_H
#define RNG_H

#include <linux/types.h>

#define SIM_PPM		1000000u

struct sim_rng {
	u64 state;
};

static inline u64 sim_rand(struct sim_rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* 0 to @n - 1 */
static inline u32 sim_below(struct sim_rng *rng, u32 n)
{
	return n ? (sim_rand(rng) >> 32) * n >> 32 : 0;
}

static inline bool sim_chance(struct sim_rng *rng, u32 ppm)
{
	return ppm && sim_below(rng, SIM_PPM) < ppm;
}

#endif /* RNG_H */
