package clibrary

import "strings"

// cmakeConfig is the file that find_package(PrivateMail) of CMake reads. The folder may be
// moved, so paths are relative to the file itself.
const cmakeConfig = `# find_package(PrivateMail): the targets PrivateMail::PrivateMail, the shared library, and
# PrivateMail::static, the archive, if they exist.
get_filename_component(_privatemail "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(EXISTS "${_privatemail}/lib/@SONAME@" AND NOT TARGET PrivateMail::PrivateMail)
  add_library(PrivateMail::PrivateMail SHARED IMPORTED)
  set_target_properties(PrivateMail::PrivateMail PROPERTIES
    IMPORTED_LOCATION "${_privatemail}/lib/@SONAME@"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_privatemail}/include")
endif()
if(EXISTS "${_privatemail}/lib/libprivatemail.a" AND NOT TARGET PrivateMail::static)
  add_library(PrivateMail::static STATIC IMPORTED)
  set_target_properties(PrivateMail::static PROPERTIES
    IMPORTED_LOCATION "${_privatemail}/lib/libprivatemail.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_privatemail}/include"
    INTERFACE_LINK_LIBRARIES "-pthread")
endif()
unset(_privatemail)
`

// cmakeVersion says which versions a program may request: this one and earlier ones of the same
// major version, or of the same minor version while the major version is 0.
const cmakeVersion = `set(PACKAGE_VERSION "@VERSION@")
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _privatemail_own "${PACKAGE_VERSION}")
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _privatemail_asked "${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR NOT _privatemail_own STREQUAL _privatemail_asked)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
unset(_privatemail_own)
unset(_privatemail_asked)
`

// cmake fills in the names in a text of this file.
func (h *header) cmake(text string) string {
	return strings.NewReplacer("@SONAME@", h.soname(), "@VERSION@", h.version).Replace(text)
}
