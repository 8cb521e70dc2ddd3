/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TCP connection beside the one that is measured: to exchange addresses and
 * to wait for each other. Any failure ends the program.
 */
#ifndef HROCE_BENCH_OOB_H
#define HROCE_BENCH_OOB_H

#include <stddef.h>
#include <stdint.h>

/**
 * oob_listen() - listen on all addresses
 * @port: TCP port
 * Return: the listening socket.
 */
int oob_listen(uint16_t port);

/**
 * oob_accept() - wait for one connection
 * @listener: what oob_listen() returned; stays open
 * Return: the connection.
 */
int oob_accept(int listener);

/**
 * oob_connect() - connect, and try again for some seconds while nobody listens
 * @address: IPv4 address in text form
 * @port: TCP port
 * Return: the connection.
 */
int oob_connect(const char *address, uint16_t port);

/**
 * oob_send() - send all of @len bytes
 * @fd: connection
 * @mem: bytes
 * @len: their number
 */
void oob_send(int fd, const void *mem, size_t len);

/**
 * oob_recv() - receive all of @len bytes
 * @fd: connection
 * @mem: where they go
 * @len: their number
 */
void oob_recv(int fd, void *mem, size_t len);

/**
 * oob_meet() - return when the other side is here, too
 * @fd: connection
 */
void oob_meet(int fd);

#endif /* HROCE_BENCH_OOB_H */
