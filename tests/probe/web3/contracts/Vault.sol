// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token that anybody mints and burns, with as many decimals as it is told.
contract Coin {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 digits) {
        decimals = digits;
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function burn(address from, uint256 value) external {
        totalSupply -= value;
        balanceOf[from] -= value;
        emit Transfer(from, address(0), value);
    }

    function move(address from, address to, uint256 value) external {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// An ERC-4626 vault as far as a reader sees it, which can be paused.
contract Vault {
    address public asset;
    bool public paused;

    constructor(address coin) {
        asset = coin;
    }

    function totalAssets() external view returns (uint256) {
        return Coin(asset).balanceOf(address(this));
    }

    function pause(bool flag) external {
        paused = flag;
    }
}

/// Answers every call in a way that no one can use.
contract Odd {
    bytes private answer;

    function set(bytes calldata said) external {
        answer = said;
    }

    fallback() external {
        bytes memory said = answer;
        if (said.length == 0) revert("none of your business");
        assembly {
            return(add(said, 32), mload(said))
        }
    }
}
