// Linux's own calls that the Glibc module leaves out.
#pragma once
#include <sys/epoll.h>
#include <sys/signalfd.h>
