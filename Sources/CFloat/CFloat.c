#include "CFloat.h"
