/* SPDX-License-Identifier: GPL-2.0 */
/* What all programs of the benchmark need. */
#ifndef HROCE_BENCH_UTIL_H
#define HROCE_BENCH_UTIL_H

#include <stddef.h>
#include <stdint.h>

#define NSEC_PER_SEC	1000000000ull

/**
 * die() - end the program because of errno
 * @what: what failed
 */
void die(const char *what) __attribute__((noreturn));

/**
 * die_saying() - end the program
 * @why: what to tell about it
 */
void die_saying(const char *why) __attribute__((noreturn));

/**
 * now_ns() - time that passes evenly
 * Return: nanoseconds since some point in the past.
 */
uint64_t now_ns(void);

/**
 * number() - the positive number in an argument; end the program if there is none
 * @text: decimal, octal or hexadecimal as in C
 * Return: the number, never 0.
 */
unsigned long number(const char *text);

/**
 * alloc() - zeroed memory, touched, from a page's start on; end the program if there is none
 * @size: bytes
 * Return: the memory.
 */
void *alloc(size_t size);

/**
 * print_one_way() - print how long messages took, as measure.py wants it
 * @times_ns: to and fro, of each; is sorted
 * @nr: how many
 */
void print_one_way(uint64_t *times_ns, size_t nr);

#endif /* HROCE_BENCH_UTIL_H */
